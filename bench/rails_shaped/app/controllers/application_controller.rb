class ApplicationController < ActionController::Base
  rescue_from(ActiveRecord::RecordNotFound) { |e| render json: {error: e.message}, status: :not_found }
  rescue_from(ActiveRecord::RecordInvalid) { |e| render json: {errors: e.record.errors.to_hash}, status: :unprocessable_content }
  rescue_from(ActionController::ParameterMissing) { |e| render json: {error: e.message.lines.first.chomp}, status: :bad_request }
end
