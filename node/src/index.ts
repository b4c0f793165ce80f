/** A circuit breaker: see the README of the package. */
import { native } from './addon'

export { type Mode, RuleBreaker, type Snapshot, type State, type Totals, type Trip } from './breakers'
export { Breaker, type BreakerEvents, type Stats, type Status } from './circuit'
export { VirtualClock } from './clock'
export { Entry, type ExitOptions } from './entry'
export { CircuitOpenError, type CircuitOpenFields, type Fault, InvalidRuleError, isBlocked, TimeoutError } from './errors'
export { breaker, type BreakerOptions, type Guarded, type GuardedResult } from './guard'
export type { CallOptions } from './policy'
export { type Limits, type LoadOptions, Registry, type RegistryOptions, type Report, type RuleSource } from './registry'
export { type CallContext, type LegacyStatistics, type OneCallOptions, Resource } from './resource'
export { readRules, type ReadRules, type Rule, type RuleFields, type RuleOptions, type Strategy, type Warning } from './rule'
export { trace } from './trace'
export type { Transition, TransitionListener, TransitionsOptions } from './transitions'

/** The version of the library. */
export const version: string = native.VERSION
