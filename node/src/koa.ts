/** Error handling for Koa. */
import { answerer, type UnavailableOptions } from './unavailable'

export type { UnavailableOptions }

/** As much of Koa's context as is needed. */
interface Context {
  headerSent: boolean
  status: number
  body: any
  set(field: string, value: string): void
}

/**
 * Middleware, to be used before the routes: answers requests that failed because a breaker rejected a call with 503
 * and `Retry-After`, and hands on all other errors.
 */
export function unavailable(options: UnavailableOptions = {}): (context: Context, next: () => Promise<any>) => Promise<void> {
  const answerTo = answerer(options)
  return async (context, next) => {
    try {
      await next()
    } catch (error) {
      const answer = context.headerSent ? undefined : answerTo(error)
      if (answer === undefined) throw error
      context.status = answer.status
      if (answer.retryAfter !== undefined) context.set('Retry-After', answer.retryAfter)
      context.body = answer.body
    }
  }
}
