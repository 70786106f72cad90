"""Types that applications see, and that the parts of a client use: errors, options, reports, results."""
