/** Error handling for Fastify. */
import { answerer, type UnavailableOptions } from './unavailable'

export type { UnavailableOptions }

/** As much of Fastify's reply as is needed. */
interface Reply {
  code(code: number): this
  header(name: string, value: string): this
  send(body: any): this
}

/**
 * An error handler, for `setErrorHandler`: answers requests that failed because a breaker rejected a call with 503
 * and `Retry-After`, and hands all other errors on to the handler of the enclosing scope.
 */
export function unavailable(options: UnavailableOptions = {}): (error: any, request: any, reply: Reply) => unknown {
  const answerTo = answerer(options)
  return (error, _request, reply) => {
    const answer = answerTo(error)
    if (answer === undefined) throw error
    if (answer.retryAfter !== undefined) reply.header('Retry-After', answer.retryAfter)
    return reply.code(answer.status).send(answer.body)
  }
}
