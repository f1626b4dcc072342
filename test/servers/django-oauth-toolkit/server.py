"""A Django project with django-oauth-toolkit: OpenID Connect, rotating refresh tokens, the pages of both packages."""

import os
import sys
from pathlib import Path

import django
from django.conf import settings
from django.http import JsonResponse
from django.urls import include, path
from jwcrypto import jwk

sys.path.append(str(Path(__file__).parent.parent / 'support'))
from serve_wsgi import serve  # noqa: E402

ISSUER = os.environ['ISSUER']
DATA = Path(os.environ['DATA'])
(DATA / 'registration').mkdir()
(DATA / 'registration' / 'login.html').write_text('<form method="post">{% csrf_token %}{{ form }}</form>')

settings.configure(
    SECRET_KEY='a key for cookies',
    ALLOWED_HOSTS=['127.0.0.1'],
    ROOT_URLCONF=__name__,
    LOGIN_URL='/accounts/login/',
    USE_TZ=True,
    DEFAULT_AUTO_FIELD='django.db.models.AutoField',
    # The hash of a client secret is computed for every request: the default takes 200 ms.
    PASSWORD_HASHERS=['django.contrib.auth.hashers.MD5PasswordHasher'],
    DATABASES={
        'default': {'ENGINE': 'django.db.backends.sqlite3', 'NAME': DATA / 'db.sqlite3', 'OPTIONS': {'timeout': 20}}
    },
    INSTALLED_APPS=[
        'django.contrib.auth',
        'django.contrib.contenttypes',
        'django.contrib.sessions',
        'oauth2_provider',
    ],
    MIDDLEWARE=[
        'django.contrib.sessions.middleware.SessionMiddleware',
        'django.middleware.common.CommonMiddleware',
        'django.middleware.csrf.CsrfViewMiddleware',
        'django.contrib.auth.middleware.AuthenticationMiddleware',
    ],
    TEMPLATES=[
        {
            'BACKEND': 'django.template.backends.django.DjangoTemplates',
            'DIRS': [DATA],
            'APP_DIRS': True,
            'OPTIONS': {'context_processors': ['django.template.context_processors.request']},
        }
    ],
    OAUTH2_PROVIDER={
        'OIDC_ENABLED': True,
        'OIDC_RSA_PRIVATE_KEY': jwk.JWK.generate(kty='RSA', size=2048).export_to_pem(True, None).decode(),
        'OIDC_ISS_ENDPOINT': f'{ISSUER}/o',
        'SCOPES': {'openid': 'OpenID Connect', 'read': 'Read', 'write': 'Write'},
        'ACCESS_TOKEN_EXPIRE_SECONDS': 3600,
        'PKCE_REQUIRED': True,
        'ROTATE_REFRESH_TOKEN': True,
    },
)
django.setup()

from django.contrib.auth.models import User  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.core.wsgi import get_wsgi_application  # noqa: E402
from oauth2_provider.decorators import protected_resource  # noqa: E402
from oauth2_provider.models import Application  # noqa: E402


@protected_resource(scopes=['read'])
def resource(request):
    return JsonResponse({'user': getattr(request.resource_owner, 'username', None)})


urlpatterns = [
    path('accounts/', include('django.contrib.auth.urls')),
    path('o/', include('oauth2_provider.urls', namespace='oauth2_provider')),
    path('resource', resource),
]

call_command('migrate', verbosity=0)
ada = User.objects.create_user('ada', password='lovelace-1815')
for client_id, secret, grant in (
    ('robot', 'robot-secret', Application.GRANT_CLIENT_CREDENTIALS),
    ('odd', 's e+c/r:t%&=x', Application.GRANT_CLIENT_CREDENTIALS),
    ('password', 'password-secret', Application.GRANT_PASSWORD),
    ('web', 'web-secret', Application.GRANT_AUTHORIZATION_CODE),
    ('tool', '', Application.GRANT_AUTHORIZATION_CODE),
):
    Application.objects.create(
        user=ada,
        name=client_id,
        client_id=client_id,
        client_secret=secret,
        client_type=Application.CLIENT_CONFIDENTIAL if secret else Application.CLIENT_PUBLIC,
        authorization_grant_type=grant,
        algorithm=Application.RS256_ALGORITHM,
        redirect_uris='http://127.0.0.1/callback',
    )

serve(get_wsgi_application())
