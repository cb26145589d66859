# The Sun and the four outer planets under gravity, symplectic integration. Float instance variables behind accessors.

SOLAR_MASS = 4 * Math::PI**2
DAYS = 365.24

class Planet
  attr_accessor :x, :y, :z, :vx, :vy, :vz, :mass

  def initialize(x, y, z, vx, vy, vz, mass)
    @x = x
    @y = y
    @z = z
    @vx = vx * DAYS
    @vy = vy * DAYS
    @vz = vz * DAYS
    @mass = mass * SOLAR_MASS
  end

  def pull(other, dt)
    dx = @x - other.x
    dy = @y - other.y
    dz = @z - other.z
    d2 = dx * dx + dy * dy + dz * dz
    mag = dt / (d2 * Math.sqrt(d2))
    mine = @mass * mag
    theirs = other.mass * mag
    @vx -= dx * theirs
    @vy -= dy * theirs
    @vz -= dz * theirs
    other.vx += dx * mine
    other.vy += dy * mine
    other.vz += dz * mine
  end

  def drift(dt)
    @x += dt * @vx
    @y += dt * @vy
    @z += dt * @vz
  end
end

BODIES = [
  Planet.new(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0),
  Planet.new(4.84143144246472090e+00, -1.16032004402742839e+00, -1.03622044471123109e-01,
             1.66007664274403694e-03, 7.69901118419740425e-03, -6.90460016972063023e-05, 9.54791938424326609e-04),
  Planet.new(8.34336671824457987e+00, 4.12479856412430479e+00, -4.03523417114321381e-01,
             -2.76742510726411899e-03, 4.99852801234917238e-03, 2.30417297573763929e-05, 2.85885980666130812e-04),
  Planet.new(1.28943695621391310e+01, -1.51111514016986312e+01, -2.23307578892655734e-01,
             2.96460137564761618e-03, 2.37847173959480950e-03, -2.96589568540237556e-05, 4.36624404335156298e-05),
  Planet.new(1.53796971148509165e+01, -2.59193146099879641e+01, 1.79258772950371181e-01,
             2.68067772490389322e-03, 1.62824170038242295e-03, -9.51592254519715870e-05, 5.15138902046611451e-05)
]

def rest!(bodies)
  px = py = pz = 0.0
  bodies.each do |b|
    px += b.vx * b.mass
    py += b.vy * b.mass
    pz += b.vz * b.mass
  end
  sun = bodies[0]
  sun.vx = -px / SOLAR_MASS
  sun.vy = -py / SOLAR_MASS
  sun.vz = -pz / SOLAR_MASS
end

def energy(bodies)
  e = 0.0
  bodies.each_with_index do |b, i|
    e += 0.5 * b.mass * (b.vx * b.vx + b.vy * b.vy + b.vz * b.vz)
    bodies[i + 1..].each do |c|
      dx = b.x - c.x
      dy = b.y - c.y
      dz = b.z - c.z
      e -= b.mass * c.mass / Math.sqrt(dx * dx + dy * dy + dz * dz)
    end
  end
  e
end

def step(bodies, dt)
  n = bodies.size
  i = 0
  while i < n
    b = bodies[i]
    j = i + 1
    while j < n
      b.pull(bodies[j], dt)
      j += 1
    end
    i += 1
  end
  bodies.each { |b| b.drift(dt) }
end

steps = (ARGV[0] || 300_000).to_i
rest!(BODIES)
puts format("%.9f", energy(BODIES))
steps.times { step(BODIES, 0.01) }
puts format("%.9f", energy(BODIES))
