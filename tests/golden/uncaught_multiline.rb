raise ArgumentError, "first\nsecond\nthird"
