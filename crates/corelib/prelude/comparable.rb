# Comparable is all native: src/comparable.rs.
