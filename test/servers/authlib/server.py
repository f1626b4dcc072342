"""A Flask application with Authlib: every grant, rotating refresh tokens, device codes, revocation, metadata."""

import os
import sys
import time
from pathlib import Path

from authlib.integrations.flask_oauth2 import AuthorizationServer, ResourceProtector, current_token
from authlib.oauth2 import OAuth2Error
from authlib.oauth2.rfc6749 import ClientMixin, TokenMixin, grants
from authlib.oauth2.rfc6749.util import list_to_scope, scope_to_list
from authlib.oauth2.rfc6750 import BearerTokenValidator
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oauth2.rfc8628 import DEVICE_CODE_GRANT_TYPE, DeviceAuthorizationEndpoint, DeviceCodeGrant
from authlib.oauth2.rfc8628 import DeviceCredentialMixin
from flask import Flask, jsonify, redirect, request, session

sys.path.append(str(Path(__file__).parent.parent / 'support'))
from serve_wsgi import serve  # noqa: E402

ISSUER = os.environ['ISSUER']
REDIRECT_URI = os.environ['REDIRECT_URI']
USER = {'username': 'ada', 'password': 'lovelace-1815'}

os.environ['AUTHLIB_INSECURE_TRANSPORT'] = 'true'
app = Flask(__name__)
app.secret_key = 'a key for cookies'
app.config['OAUTH2_REFRESH_TOKEN_GENERATOR'] = True
app.config['OAUTH2_TOKEN_EXPIRES_IN'] = {'authorization_code': 3600, 'client_credentials': 3600, 'password': 3600}


class Client(ClientMixin):
    def __init__(self, client_id, secret, grant_types):
        self.client_id = client_id
        self.secret = secret
        self.grant_types = grant_types

    def get_client_id(self):
        return self.client_id

    def get_default_redirect_uri(self):
        return REDIRECT_URI

    def get_allowed_scope(self, scope):
        """Drops what the client may not have, as RFC 6749 §3.3 allows."""
        return list_to_scope([item for item in scope_to_list(scope) if item in ('read', 'write')])

    def check_redirect_uri(self, redirect_uri):
        return redirect_uri == REDIRECT_URI

    def check_client_secret(self, client_secret):
        return self.secret == client_secret

    def check_endpoint_auth_method(self, method, endpoint):
        return (method == 'none') == (self.secret is None)

    def check_response_type(self, response_type):
        return response_type == 'code'

    def check_grant_type(self, grant_type):
        return grant_type in self.grant_types


class Token(TokenMixin):
    def __init__(self, values, client, user):
        self.client_id = client.client_id
        self.user = user
        self.scope = values.get('scope', '')
        self.expires_in = values['expires_in']
        self.expires_at = time.time() + values['expires_in']
        self.revoked = False

    def check_client(self, client):
        return self.client_id == client.client_id

    def get_scope(self):
        return self.scope

    def get_expires_in(self):
        return self.expires_in

    def is_expired(self):
        return time.time() > self.expires_at

    def is_revoked(self):
        return self.revoked


class Code:
    """An authorization code, with the names that the code challenge needs."""

    def __init__(self, code, oauth_request):
        self.code = code
        self.client_id = oauth_request.client.client_id
        self.redirect_uri = oauth_request.redirect_uri
        self.scope = oauth_request.scope
        self.user = oauth_request.user
        self.code_challenge = oauth_request.data.get('code_challenge')
        self.code_challenge_method = oauth_request.data.get('code_challenge_method')

    def get_redirect_uri(self):
        return self.redirect_uri

    def get_scope(self):
        return self.scope


class Device(DeviceCredentialMixin):
    def __init__(self, client_id, scope, data):
        self.client_id = client_id
        self.scope = scope
        self.user_code = data['user_code']
        self.expires_at = time.time() + data['expires_in']
        self.decision = None

    def get_client_id(self):
        return self.client_id

    def get_scope(self):
        return self.scope

    def get_user_code(self):
        return self.user_code

    def is_expired(self):
        return time.time() > self.expires_at


USER_GRANTS = ('authorization_code', 'refresh_token', 'password', DEVICE_CODE_GRANT_TYPE)
clients = {
    client.client_id: client
    for client in (
        Client('robot', 'robot-secret', ('client_credentials',)),
        Client('odd', 's e+c/r:t%&=x', ('client_credentials',)),
        Client('web', 'web-secret', USER_GRANTS),
        Client('tool', None, USER_GRANTS),
    )
}
access_tokens = {}
refresh_tokens = {}
codes = {}
devices = {}


def save_token(values, oauth_request):
    token = Token(values, oauth_request.client, oauth_request.user)
    access_tokens[values['access_token']] = token
    if 'refresh_token' in values:
        refresh_tokens[values['refresh_token']] = token


class ClientCredentialsGrant(grants.ClientCredentialsGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ['client_secret_basic', 'client_secret_post']


class PasswordGrant(grants.ResourceOwnerPasswordCredentialsGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ['client_secret_basic', 'client_secret_post', 'none']

    def authenticate_user(self, username, password):
        return 'ada' if {'username': username, 'password': password} == USER else None


class AuthorizationCodeGrant(grants.AuthorizationCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ['client_secret_basic', 'client_secret_post', 'none']

    def save_authorization_code(self, code, request):
        codes[code] = Code(code, request)

    def query_authorization_code(self, code, client):
        found = codes.get(code)
        return found if found and found.client_id == client.client_id else None

    def delete_authorization_code(self, authorization_code):
        del codes[authorization_code.code]

    def authenticate_user(self, authorization_code):
        return authorization_code.user


class RefreshTokenGrant(grants.RefreshTokenGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ['client_secret_basic', 'client_secret_post', 'none']
    INCLUDE_NEW_REFRESH_TOKEN = True

    def authenticate_refresh_token(self, refresh_token):
        token = refresh_tokens.get(refresh_token)
        return token if token and not token.revoked else None

    def authenticate_user(self, credential):
        return credential.user

    def revoke_old_credential(self, credential):
        credential.revoked = True


class DeviceGrant(DeviceCodeGrant):
    def query_device_credential(self, device_code):
        return devices.get(device_code)

    def query_user_grant(self, user_code):
        decision = next(device.decision for device in devices.values() if device.user_code == user_code)
        return None if decision is None else ('ada', decision)

    def should_slow_down(self, credential):
        return False


class DeviceEndpoint(DeviceAuthorizationEndpoint):
    INTERVAL = 1

    def get_verification_uri(self):
        return f'{ISSUER}/device'

    def save_device_credential(self, client_id, scope, data):
        devices[data['device_code']] = Device(client_id, scope, data)


class Revocation(RevocationEndpoint):
    CLIENT_AUTH_METHODS = ['client_secret_basic', 'client_secret_post', 'none']

    def query_token(self, token_string, token_type_hint):
        return refresh_tokens.get(token_string) or access_tokens.get(token_string)

    def revoke_token(self, token, request):
        token.revoked = True


server = AuthorizationServer(app, query_client=clients.get, save_token=save_token)
server.register_grant(ClientCredentialsGrant)
server.register_grant(PasswordGrant)
server.register_grant(AuthorizationCodeGrant, [CodeChallenge(required=True)])
server.register_grant(RefreshTokenGrant)
server.register_grant(DeviceGrant)
server.register_endpoint(DeviceEndpoint)
server.register_endpoint(Revocation)


class TokenValidator(BearerTokenValidator):
    def authenticate_token(self, token_string):
        return access_tokens.get(token_string)


require_oauth = ResourceProtector()
require_oauth.register_token_validator(TokenValidator())

SIGN_IN_PAGE = '<form method="post"><input name="username"><input type="password" name="password"></form>'
CONSENT_PAGE = '<form method="post"><button name="decision" value="allow">Allow</button></form>'


@app.route('/authorize', methods=['GET', 'POST'])
def authorize():
    if 'user' not in session:
        if request.form.to_dict() != USER:
            return SIGN_IN_PAGE
        session['user'] = 'ada'
        return redirect(request.url)
    if request.method == 'GET':
        try:
            server.get_consent_grant(end_user='ada')
        except OAuth2Error as error:
            return jsonify(dict(error.get_body())), error.status_code
        return CONSENT_PAGE
    return server.create_authorization_response(grant_user='ada' if request.form['decision'] == 'allow' else None)


@app.route('/device', methods=['GET', 'POST'])
def device():
    if request.method == 'GET':
        return CONSENT_PAGE
    for item in devices.values():
        if item.user_code == request.args['user_code']:
            item.decision = request.form['decision'] == 'allow'
    return 'done'


@app.post('/token')
def token():
    return server.create_token_response()


@app.post('/device_authorization')
def device_authorization():
    return server.create_endpoint_response('device_authorization')


@app.post('/revoke')
def revoke():
    return server.create_endpoint_response('revocation')


@app.get('/resource')
@require_oauth('read')
def resource():
    return jsonify(scope=current_token.scope, user=current_token.user)


@app.get('/.well-known/oauth-authorization-server')
def metadata():
    return jsonify(
        issuer=ISSUER,
        authorization_endpoint=f'{ISSUER}/authorize',
        token_endpoint=f'{ISSUER}/token',
        device_authorization_endpoint=f'{ISSUER}/device_authorization',
        revocation_endpoint=f'{ISSUER}/revoke',
        response_types_supported=['code'],
        grant_types_supported=['client_credentials', *USER_GRANTS],
        token_endpoint_auth_methods_supported=['client_secret_basic', 'client_secret_post', 'none'],
        code_challenge_methods_supported=['S256'],
        scopes_supported=['read', 'write'],
    )


serve(app)
