/** Why a version is in force: activated by this tenant, followed from the operator, or pinned. */
import { Badge, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { DateTime } from './date-time.tsx'
import { isPinned } from './pin.tsx'
import { Principal } from './principal.tsx'

interface Timeline {
  readonly in_force: readonly { readonly from: string; readonly until: string | null; readonly activation_id: string }[]
  readonly items: readonly { readonly activation_id: string; readonly reason: string; readonly actor: string }[]
}

interface WhyInForceProps {
  /** The kind of object: list, matrix or rule. */
  readonly word: string
  readonly active: { readonly version: number; readonly via: Via; readonly effective_from: string }
  /** The activations of this tenant; loaded only if it is pinned. */
  readonly own: Timeline | undefined
  /** The comparison of the pinned version with the version the operator has in force. */
  readonly followed?: ReactNode
}
type Via = 'tenant-own' | 'tenant-pin' | 'shared'

export function WhyInForce({ word, active, own, followed }: WhyInForceProps) {
  const since = (
    <>
      Since <DateTime at={active.effective_from} />.
    </>
  )
  if (active.via === 'tenant-own')
    return (
      <span>
        This {word} belongs to this tenant, which put the version in force. {since}
      </span>
    )
  if (active.via === 'shared') return <span>Put in force by the operator for all tenants. {since}</span>
  // The clocks of browser and server may differ, so the period is found by its start.
  const span = own?.in_force.find(({ from }) => from === active.effective_from)
  const activation = own?.items.find(({ activation_id }) => activation_id === span?.activation_id)
  return (
    <div>
      This tenant is pinned to this version{' '}
      {span && (
        <b>
          {span.until === null ? (
            'without an end date'
          ) : (
            <>
              until <DateTime at={span.until} />
            </>
          )}
        </b>
      )}
      . {since}
      {activation && (
        <Text size="sm">
          “{activation.reason}”, by <Principal of={activation.actor} />
        </Text>
      )}
      {followed}
    </div>
  )
}

export function PinnedMark({ of }: { readonly of: Parameters<typeof isPinned>[0] }) {
  if (!isPinned(of)) return null
  return (
    <Badge variant="light" color="indigo" tt="none" miw="max-content">
      pinned
    </Badge>
  )
}
