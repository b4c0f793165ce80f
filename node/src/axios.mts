export * from './axios.js'
