# Nothing: what a suite has this for is not tried here.
