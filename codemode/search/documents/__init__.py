"""Documents as numbers: fields, segments, postings and profiles, and the weights of their fields and features."""
