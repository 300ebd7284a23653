"""An error that is wanted: the alpha, the stop and the samples that certify it."""
