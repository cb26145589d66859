# Ambient occlusion of three spheres over a plane. Every row is a task of its own (its random numbers start from the row
# number), so that rows can be computed in any order and by anyone; bench/parallel/kernel.rb hands them to VMs.
# aobench.rb [SIZE [SAMPLES]] prints a checksum for each eighth of the picture and the picture itself, coarsely.

class AoScene
  SPHERES = [[-2.0, 0.0, -3.5, 0.5], [-0.5, 0.0, -3.0, 0.5], [1.0, 0.0, -2.2, 0.5]].freeze
  PLANE_Y = -0.5

  # What a ray hits nearest: distance, point and normal.
  class Hit
    attr_accessor :t, :px, :py, :pz, :nx, :ny, :nz

    def initialize
      @t = 1.0e+30
      @px = @py = @pz = @nx = @ny = @nz = 0.0
    end
  end

  def initialize(size, samples)
    @size = size
    @samples = samples
    @seed = 0
  end

  def random
    @seed = (@seed * 1_103_515_245 + 12_345) & 0x7fffffff
    @seed / 2147483648.0
  end

  def sphere(hit, s, ox, oy, oz, dx, dy, dz)
    rx = ox - s[0]
    ry = oy - s[1]
    rz = oz - s[2]
    b = rx * dx + ry * dy + rz * dz
    c = rx * rx + ry * ry + rz * rz - s[3] * s[3]
    d = b * b - c
    return unless d > 0.0
    t = -b - Math.sqrt(d)
    return unless t > 0.0 && t < hit.t
    hit.t = t
    hit.px = ox + dx * t
    hit.py = oy + dy * t
    hit.pz = oz + dz * t
    nx = hit.px - s[0]
    ny = hit.py - s[1]
    nz = hit.pz - s[2]
    len = Math.sqrt(nx * nx + ny * ny + nz * nz)
    hit.nx = nx / len
    hit.ny = ny / len
    hit.nz = nz / len
  end

  def plane(hit, ox, oy, oz, dx, dy, dz)
    return if dy.abs < 1.0e-17
    t = (PLANE_Y - oy) / dy
    return unless t > 0.0 && t < hit.t
    hit.t = t
    hit.px = ox + dx * t
    hit.py = oy + dy * t
    hit.pz = oz + dz * t
    hit.nx = 0.0
    hit.ny = 1.0
    hit.nz = 0.0
  end

  def trace(ox, oy, oz, dx, dy, dz)
    hit = Hit.new
    SPHERES.each { |s| sphere(hit, s, ox, oy, oz, dx, dy, dz) }
    plane(hit, ox, oy, oz, dx, dy, dz)
    hit.t < 1.0e+30 ? hit : nil
  end

  # Light that reaches the point: one minus the share of random directions over it that hit something.
  def occlusion(hit)
    ax, ay, az = hit.nx.abs < 0.6 ? [1.0, 0.0, 0.0] : [0.0, 1.0, 0.0]
    ux = ay * hit.nz - az * hit.ny
    uy = az * hit.nx - ax * hit.nz
    uz = ax * hit.ny - ay * hit.nx
    len = Math.sqrt(ux * ux + uy * uy + uz * uz)
    ux /= len
    uy /= len
    uz /= len
    vx = hit.ny * uz - hit.nz * uy
    vy = hit.nz * ux - hit.nx * uz
    vz = hit.nx * uy - hit.ny * ux
    ox = hit.px + 0.0001 * hit.nx
    oy = hit.py + 0.0001 * hit.ny
    oz = hit.pz + 0.0001 * hit.nz
    dark = 0
    count = @samples * @samples
    count.times do
      r = Math.sqrt(random)
      phi = 2.0 * Math::PI * random
      x = Math.cos(phi) * r
      y = Math.sin(phi) * r
      z = Math.sqrt(1.0 - r * r)
      dx = x * ux + y * vx + z * hit.nx
      dy = x * uy + y * vy + z * hit.ny
      dz = x * uz + y * vz + z * hit.nz
      dark += 1 if trace(ox, oy, oz, dx, dy, dz)
    end
    (count - dark).to_f / count
  end

  # One row of the picture as a String of @size grey bytes.
  def row(y)
    @seed = y * 7919 + 1
    half = @size / 2.0
    out = String.new(encoding: Encoding::BINARY)
    @size.times do |x|
      dx = (x - half) / half
      dy = (half - y) / half
      len = Math.sqrt(dx * dx + dy * dy + 1.0)
      hit = trace(0.0, 0.0, 0.0, dx / len, dy / len, -1.0 / len)
      light = hit ? occlusion(hit) : 0.0
      out << (light * 255.0).to_i
    end
    out
  end
end

if __FILE__ == $0
  size = (ARGV[0] || 200).to_i
  samples = (ARGV[1] || 6).to_i
  scene = AoScene.new(size, samples)
  rows = Array.new(size) { |y| scene.row(y) }
  rows.each_slice([size / 8, 1].max).with_index { |part, i| puts "part #{i}: #{part.sum { |r| r.sum(24) }}" }
  rows.each_with_index do |r, y|
    puts r.bytes.each_slice(2).map { |a, _| " .:-=+*%@#"[a * 9 / 255] }.join if y % 4 == 0
  end
end
