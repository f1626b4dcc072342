# The portal of LemonLDAP::NG as an OpenID provider, with its demonstration users.
use strict;
use warnings;
use Crypt::OpenSSL::RSA;
use IO::Socket::INET;
use JSON;
use Plack::Loader;

my $data     = $ENV{DATA};
my $issuer   = $ENV{ISSUER};
my $key      = Crypt::OpenSSL::RSA->generate_key(2048);
my $sessions = "$data/sessions";
mkdir $_ for "$data/conf", $sessions, "$sessions/lock", "$data/persistent", "$data/persistent/lock";

# Fields of each client: secret, and what it may do.
my %clients = (
    robot => [ 'robot-secret', oidcRPMetaDataOptionsAllowClientCredentialsGrant => 1 ],
    odd   => [ 's e+c/r:t%&=x', oidcRPMetaDataOptionsAllowClientCredentialsGrant => 1 ],
    web   => [ 'web-secret', oidcRPMetaDataOptionsAllowPasswordGrant => 1, oidcRPMetaDataOptionsRefreshToken => 1 ],
    tool  => [ '', oidcRPMetaDataOptionsPublic => 1, oidcRPMetaDataOptionsRequirePKCE => 1,
        oidcRPMetaDataOptionsAllowOffline => 1, oidcRPMetaDataOptionsRefreshToken => 1 ],
);
my %options = map {
    my ( $secret, %more ) = @{ $clients{$_} };
    (   $_ => {
            oidcRPMetaDataOptionsClientID              => $_,
            oidcRPMetaDataOptionsClientSecret          => $secret,
            oidcRPMetaDataOptionsDisplayName           => $_,
            oidcRPMetaDataOptionsIDTokenSignAlg        => 'RS256',
            oidcRPMetaDataOptionsRedirectUris          => $ENV{REDIRECT_URI},
            oidcRPMetaDataOptionsAccessTokenExpiration => 3600,
            %more,
        }
    )
} keys %clients;

my %configuration = (
    cfgNum                                => 1,
    cfgDate                               => time,
    portal                                => "$issuer/",
    domain                                => '127.0.0.1',
    securedCookie                         => 0,
    authentication                        => 'Demo',
    userDB                                => 'Same',
    passwordDB                            => 'Null',
    registerDB                            => 'Null',
    globalStorage                         => 'Apache::Session::File',
    globalStorageOptions                  => { Directory => $sessions, LockDirectory => "$sessions/lock" },
    persistentStorage                     => 'Apache::Session::File',
    persistentStorageOptions              =>
      { Directory => "$data/persistent", LockDirectory => "$data/persistent/lock" },
    localSessionStorage                   => '',
    locationRules                         => {},
    exportedVars                          => {},
    demoExportedVars                      => { cn => 'cn', mail => 'mail', uid => 'uid' },
    applicationList                       => {},
    portalSkin                            => 'bootstrap',
    portalCheckLogins                     => 0,
    captcha                               => '::Captcha::None',
    issuerDBOpenIDConnectActivation       => 1,
    issuerDBOpenIDConnectPath             => '^/oauth2/',
    issuerDBOpenIDConnectRule             => 1,
    oidcServiceMetaDataIssuer             => $issuer,
    oidcServiceMetaDataAuthorizeURI       => 'authorize',
    oidcServiceMetaDataTokenURI           => 'token',
    oidcServiceMetaDataUserInfoURI        => 'userinfo',
    oidcServiceMetaDataJWKSURI            => 'jwks',
    oidcServiceMetaDataEndSessionURI      => 'logout',
    oidcServiceMetaDataIntrospectionURI   => 'introspect',
    oidcServiceAllowAuthorizationCodeFlow => 1,
    oidcServicePrivateKeySig              => $key->get_private_key_string,
    oidcServicePublicKeySig               => $key->get_public_key_x509_string,
    oidcServiceKeyIdSig                   => 'key',
    oidcRPMetaDataOptions                 => \%options,
    oidcRPMetaDataExportedVars            => { map { ( $_ => { email => 'mail' } ) } keys %clients },
);
sub write_file {
    my ( $name, $text ) = @_;
    open my $file, '>', "$data/$name" or die $!;
    print $file $text;
    close $file;
}
write_file( 'conf/lmConf-1.json', to_json( \%configuration ) );
write_file( 'lemonldap-ng.ini', <<"INI");
[all]
logLevel = error
[configuration]
type = File
dirName = $data/conf
[portal]
staticPrefix = /static
templateDir = /usr/share/lemonldap-ng/portal/templates
languages = en
INI

# The default captcha, which the sign-in page does not use, needs ImageMagick.
{
    package Lemonldap::NG::Portal::Captcha::None;
    use Mouse;
    extends 'Lemonldap::NG::Portal::Main::Plugin';
    sub init { 1 }
}
$INC{'Lemonldap/NG/Portal/Captcha/None.pm'} = __FILE__;

$ENV{LLNG_DEFAULTCONFFILE} = "$data/lemonldap-ng.ini";
require Lemonldap::NG::Portal::Main;
my $application = Lemonldap::NG::Portal::Main->run( {} );
my $socket = IO::Socket::INET->new( LocalAddr => '127.0.0.1', LocalPort => 0, Listen => 64, ReuseAddr => 1 ) or die $!;
$| = 1;
print $socket->sockport . "\n";
Plack::Loader->load( 'Standalone', listen_sock => $socket, host => '127.0.0.1', port => $socket->sockport )
  ->run($application);
