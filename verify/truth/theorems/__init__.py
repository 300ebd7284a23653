"""The theorems tied to the code: the kernel's own sentences evaluated where their letters are the suite's exact stages.

``python -m verify.truth.theorems`` searches for the places anew.
"""
