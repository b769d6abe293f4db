/** Why one version is in force here: put there by this tenant, taken over from the operator, or pinned, and then until when. */
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
  /** What it is a version of, in one word. */
  readonly word: string
  readonly active: { readonly version: number; readonly via: Via; readonly effective_from: string }
  /** What this tenant said about it; read only where it is pinned, and absent until it was. */
  readonly own: Timeline | undefined
  /** How what the operator has in force compares with what is pinned. */
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
        It is a {word} of this tenant, and this version was put in force here. {since}
      </span>
    )
  if (active.via === 'shared')
    return <span>The operator put it in force for everybody, and this tenant follows. {since}</span>
  // The clocks of browser and server may differ: the span is found by when it began, not by the time now.
  const span = own?.in_force.find(({ from }) => from === active.effective_from)
  const said = own?.items.find(({ activation_id }) => activation_id === span?.activation_id)
  return (
    <div>
      This tenant is pinned to it{' '}
      {span && <b>until {span.until === null ? 'further notice' : <DateTime at={span.until} />}</b>}, whatever the
      operator puts in force meanwhile. {since}
      {said && (
        <Text size="sm">
          “{said.reason}”, by <Principal of={said.actor} />
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
