"""Campaigns on any ``concurrent.futures.Executor``: pools, an existing Dask cluster, what a function returns."""
