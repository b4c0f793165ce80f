import { breaker, CircuitOpenError } from 'tripcoil'

const fetchStock = breaker(async (sku = 'sku-1') => {
  throw new Error(`no answer about ${sku}`) // stands for a call over the network
}, {
  resource: 'stock',
  strategy: 'errorRatio',
  threshold: 0.5,
  minRequestAmount: 4,
  statInterval: 10_000,
  statSlidingWindowBucketCount: 10,
  retryTimeout: 2000,
})

async function main() {
  for (let i = 0; i < 6; i++) {
    try {
      console.log(await fetchStock('sku-1'))
    } catch (error) {
      if (error instanceof CircuitOpenError) console.log('not called:', error.message)
      else console.log('failed:', String(error))
    }
  }
}

main()
