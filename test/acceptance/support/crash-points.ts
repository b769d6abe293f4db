/** Points of a provider call at which a worker may die. */
export const crashPoints = ['before_sent', 'after_sent', 'after_answer', 'after_answered'] as const
export type CrashPoint = (typeof crashPoints)[number]
