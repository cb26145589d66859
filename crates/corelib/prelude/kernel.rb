# The parts of Kernel that are not hot.
