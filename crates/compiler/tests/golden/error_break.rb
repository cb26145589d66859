break
yield
