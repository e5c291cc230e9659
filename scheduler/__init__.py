"""Who may run, when, and exclusively: ledger, leases, dispatch, finalize planning."""
