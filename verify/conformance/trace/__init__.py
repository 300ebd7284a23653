"""From a stage that is wrong to the expression of the user's file that makes it wrong, by exchanging values."""
