# Work that takes about so many thousandths of a second of one core, and allocates little.
def work(units)
  x = 1
  (units * 20_000).to_i.times { x = (x * 48_271) % 2_147_483_647 }
  x
end
