"""What is said to a subject's author: the deviation's name, in sentences, and the page of the report."""
