/**
 * An OAuth server that the client is tested with.
 * @typedef {object} TestServer
 * @property {string} directory of its start script and its tests; also its name in `only`
 * @property {string} title
 * @property {string} package that has its version: of npm, or of Debian if there are `debian` packages
 * @property {[command: string, ...args: string[]]} command that prints the port it listens on
 * @property {string[]} debian packages that it needs
 */

/** @type {TestServer[]} */
export const servers = [
  {
    directory: 'apache-mod-oauth2',
    title: 'Apache mod_oauth2',
    package: 'libapache2-mod-oauth2',
    command: [process.execPath, 'server.js'],
    debian: ['apache2', 'libapache2-mod-oauth2'],
  },
  {
    directory: 'atproto',
    title: '@atproto/oauth-provider',
    package: '@atproto/oauth-provider',
    command: [process.execPath, 'server.js'],
    debian: [],
  },
  {
    directory: 'authlib',
    title: 'Authlib',
    package: 'python3-authlib',
    command: ['/usr/bin/python3', 'server.py'],
    debian: ['python3-authlib', 'python3-flask'],
  },
  {
    directory: 'better-auth',
    title: 'better-auth',
    package: 'better-auth',
    command: [process.execPath, 'server.js'],
    debian: [],
  },
  {
    directory: 'django-oauth-toolkit',
    title: 'django-oauth-toolkit',
    package: 'python3-django-oauth-toolkit',
    command: ['/usr/bin/python3', 'server.py'],
    debian: ['python3-django-oauth-toolkit'],
  },
  {
    directory: 'doorkeeper',
    title: 'Doorkeeper',
    package: 'ruby-doorkeeper',
    command: ['/usr/bin/ruby', 'server.rb'],
    debian: ['ruby-doorkeeper', 'ruby-railties', 'ruby-activerecord', 'ruby-sqlite3', 'puma'],
  },
  {
    directory: 'glewlwyd',
    title: 'glewlwyd',
    package: 'glewlwyd',
    command: [process.execPath, 'server.js'],
    debian: ['glewlwyd', 'dbconfig-sqlite3', 'sqlite3'],
  },
  {
    directory: 'jmondi-oauth2-server',
    title: '@jmondi/oauth2-server',
    package: '@jmondi/oauth2-server',
    command: [process.execPath, 'server.js'],
    debian: [],
  },
  {
    directory: 'lemonldap-ng',
    title: 'LemonLDAP::NG',
    package: 'liblemonldap-ng-portal-perl',
    command: ['/usr/bin/perl', 'server.pl'],
    debian: ['liblemonldap-ng-portal-perl', 'libplack-perl', 'libstring-random-perl', 'libio-string-perl'],
  },
  {
    directory: 'mod-auth-openidc',
    title: 'Apache with mod_auth_openidc',
    package: 'libapache2-mod-auth-openidc',
    command: ['/usr/sbin/apache2', '-D', 'FOREGROUND'],
    debian: ['apache2-bin', 'libapache2-mod-auth-openidc'],
  },
  {
    directory: 'oauth2-mock-server',
    title: 'oauth2-mock-server',
    package: 'oauth2-mock-server',
    command: [process.execPath, 'server.js'],
    debian: [],
  },
];
