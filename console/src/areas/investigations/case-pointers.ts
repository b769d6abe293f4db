/** Where something that is missing can be done: the part of the workspace that its pointer names. Pure. */

export const parts = ['steps', 'work', 'evidence'] as const
export type Part = (typeof parts)[number]
export const tabs = ['narrative', 'timeline', 'requests', 'related', 'notes'] as const
export type Tab = (typeof tabs)[number]

export interface CasePlace {
  readonly part: Part
  readonly tab?: Tab
  /** The id of the element that gets the focus. */
  readonly element: string
}

export const toStepElement = (step_key: string): string => `step-${step_key}`
export const toTaskElement = (task_id: string): string => `task-${task_id}`
export const toParagraphElement = (place: number | string): string => `paragraph-${place}`

/** Null where nothing in the workspace helps: the user lacks a role, or another person has to act. */
export function findPlace(pointer: string): CasePlace | null {
  const [, first, second, third] = pointer.split('/')
  if (first === 'steps' && second !== undefined) return { part: 'steps', element: toStepElement(second) }
  if (first === 'tasks' && second !== undefined) return { part: 'steps', element: toTaskElement(second) }
  if (first === 'gathering') return { part: 'steps', element: 'steps' }
  if (first === 'information_requests') return { part: 'work', tab: 'requests', element: 'requests' }
  if (first === 'proposal') return { part: 'work', tab: 'timeline', element: 'timeline' }
  if (first !== 'narrative') return null
  const element = second === 'paragraphs' && third !== undefined ? toParagraphElement(third) : 'narrative'
  return { part: 'work', tab: 'narrative', element }
}
