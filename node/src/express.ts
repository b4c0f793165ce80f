/** Error handling for Express. */
import { answerer, type UnavailableOptions } from './unavailable'

export type { UnavailableOptions }

/** As much of Express's response as is needed. */
interface Response {
  headersSent: boolean
  status(code: number): this
  set(field: string, value: string): this
  type(type: string): this
  send(body: any): unknown
}

/**
 * Error-handling middleware, to be used after the routes: answers requests that failed because a breaker rejected a
 * call with 503 and `Retry-After`, and hands on all other errors.
 */
export function unavailable(
  options: UnavailableOptions = {},
): (error: any, request: any, response: Response, next: (error?: any) => void) => void {
  const answerTo = answerer(options)
  // Express knows error handlers by their four parameters.
  return (error, _request, response, next) => {
    const answer = response.headersSent ? undefined : answerTo(error)
    if (answer === undefined) return next(error)
    if (answer.retryAfter !== undefined) response.set('Retry-After', answer.retryAfter)
    if (typeof answer.body === 'string') response.type('text/plain')
    response.status(answer.status).send(answer.body)
  }
}
