# A Rails application with Doorkeeper, configured as GitLab configures it: rotating refresh tokens and the password grant.
require 'action_controller/railtie'
require 'active_record/railtie'
require 'doorkeeper'
require 'puma'
require 'puma/server'

ENV['DATABASE_URL'] = "sqlite3:#{ENV.fetch('DATA')}/doorkeeper.sqlite3?pool=16&timeout=5000"

class Application < Rails::Application
  config.eager_load = false
  config.secret_key_base = 'a key for cookies, which no other application uses'
  config.logger = Logger.new($stderr)
  config.log_level = :warn
  config.hosts.clear
  config.action_dispatch.show_exceptions = true
  config.root = ENV.fetch('DATA')
end

User = Struct.new(:id)
ADA = User.new(1)
PASSWORD = 'lovelace-1815'.freeze

Doorkeeper.configure do
  orm :active_record
  base_controller 'ApplicationController'
  resource_owner_authenticator { session[:user] ? ADA : redirect_to("/sign-in?#{{ to: request.fullpath }.to_query}") }
  resource_owner_from_credentials { ADA if params[:username] == 'ada' && params[:password] == PASSWORD }
  grant_flows %w[authorization_code client_credentials password]
  default_scopes :read
  optional_scopes :write
  enforce_configured_scopes
  access_token_expires_in 7200
  use_refresh_token { |context| context.client&.uid != 'no-refresh' }
  force_ssl_in_redirect_uri false
  skip_client_authentication_for_password_grant { true }
end

class ApplicationController < ActionController::Base
end

class PagesController < ApplicationController
  before_action -> { doorkeeper_authorize! :read }, only: :resource

  def form
    render inline: <<~HTML, layout: false
      <%= form_tag('/sign-in') do %><%= hidden_field_tag :to, params[:to] %><%= text_field_tag :username %>
      <%= password_field_tag :password %><%= submit_tag 'Sign in' %><% end %>
    HTML
  end

  def sign_in
    return redirect_to(request.referer) unless params[:username] == 'ada' && params[:password] == PASSWORD

    session[:user] = ADA.id
    redirect_to params[:to]
  end

  def resource
    render json: { scope: doorkeeper_token.scopes.to_s, client: doorkeeper_token.application&.uid }
  end
end

Application.initialize!
Application.routes.draw do
  use_doorkeeper
  get '/sign-in', to: 'pages#form'
  post '/sign-in', to: 'pages#sign_in'
  get '/resource', to: 'pages#resource'
end

ActiveRecord::Migration.verbose = false
ActiveRecord::Schema.define do
  create_table(:oauth_applications) do |table|
    table.string :name, :uid, :secret, null: false
    table.text :redirect_uri
    table.string :scopes, null: false, default: ''
    table.boolean :confidential, null: false, default: true
    table.timestamps
  end
  create_table(:oauth_access_grants) do |table|
    table.integer :resource_owner_id, :application_id, null: false
    table.string :token, null: false
    table.integer :expires_in, null: false
    table.text :redirect_uri, null: false
    table.string :scopes, null: false, default: ''
    table.string :code_challenge, :code_challenge_method
    table.datetime :created_at, null: false
    table.datetime :revoked_at
  end
  create_table(:oauth_access_tokens) do |table|
    table.integer :resource_owner_id, :application_id, :expires_in
    table.string :token, null: false
    table.string :refresh_token, :scopes
    table.string :previous_refresh_token, null: false, default: ''
    table.datetime :created_at, null: false
    table.datetime :revoked_at
  end
end

ODD_SECRET = 's e+c/r:t%&=x'.freeze
redirect_uri = ENV.fetch('REDIRECT_URI')
[
  ['robot', 'robot-secret', true], ['odd', ODD_SECRET, true], ['web', 'web-secret', true],
  ['tool', 'unused', false], ['no-refresh', 'unused', false]
].each do |uid, secret, confidential|
  Doorkeeper::Application.create!(name: uid, uid: uid, secret: secret, confidential: confidential,
                                  redirect_uri: redirect_uri, scopes: 'read write')
end

server = Puma::Server.new(Application, Puma::Events.null, min_threads: 8, max_threads: 8)
socket = server.add_tcp_listener('127.0.0.1', 0)
server.run
puts socket.addr[1]
$stdout.flush
sleep
