export * from './undici.js'
