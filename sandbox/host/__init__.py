"""The trusted side: fork server handle, single-use worker, pool of warm workers, Sandbox.run top to bottom."""
