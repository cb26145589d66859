# Prelude: Time methods that follow from others.

class Time
  # Whether it is a Sunday.
  def sunday? = wday == 0
  # Whether it is a Monday.
  def monday? = wday == 1
  # Whether it is a Tuesday.
  def tuesday? = wday == 2
  # Whether it is a Wednesday.
  def wednesday? = wday == 3
  # Whether it is a Thursday.
  def thursday? = wday == 4
  # Whether it is a Friday.
  def friday? = wday == 5
  # Whether it is a Saturday.
  def saturday? = wday == 6

  # A Hash of `:year`, `:month`, `:day`, `:yday`, `:wday`, `:hour`, `:min`, `:sec`, `:subsec`, `:dst` and `:zone` for pattern matching; of the named ones alone if `keys` is an Array.
  def deconstruct_keys(keys)
    raise TypeError, "wrong argument type #{keys.class} (expected Array or nil)" unless keys.nil? || Array === keys
    all = { year: year, month: month, day: day, yday: yday, wday: wday, hour: hour, min: min, sec: sec, subsec: subsec, dst: dst?, zone: zone }
    keys ? all.slice(*keys) : all
  end
end
