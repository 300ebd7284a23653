"""What one sample is: draws, noise, batches."""
