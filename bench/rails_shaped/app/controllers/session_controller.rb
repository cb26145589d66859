class SessionController < ApplicationController
  def visits = render(plain: (session[:visits] = session[:visits].to_i + 1).to_s)
  def token = render(plain: form_authenticity_token)
  def guarded = render(plain: "welcome")
  def boom = raise("boom")

  # What the processor of this request holds: a number of bytes, and its process.
  def memory
    GC.start
    render json: {pid: Process.pid, resident: File.read("/proc/self/status")[/VmRSS:\s*(\d+)/, 1].to_i * 1024}
  end
end
