export * from './fetch.js'
