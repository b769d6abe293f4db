/** What an area of the console declares: its place in the navigation, who sees it, and its pages. */
import type { OperationId } from '@probity/client'
import type { ComponentType } from 'react'
import type { IconName } from './ui/icons.tsx'

export const groups = ['Work', 'Policy', 'Evidence', 'Administration', 'Developers'] as const

export type LoadPage = () => Promise<{ default: ComponentType }>

export interface Area {
  readonly path: string
  readonly title: string
  readonly about: string
  readonly icon: IconName
  readonly group: (typeof groups)[number] | null
  /** operationId, or null if every signed-in user may open the area. */
  readonly needs: OperationId | null
  /** Shown without signing in. */
  readonly isPublic?: true
  /** Found by search and by links only, not in the navigation. */
  readonly isUnlisted?: true
  /** Each page is a separate chunk, loaded when it is opened. */
  readonly pages: Readonly<Record<string, LoadPage>>
}
