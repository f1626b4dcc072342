declare module 'passport';
declare module 'passport-jwt';
