/** Going back to an earlier version of a matrix or a rule. */
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { probity } from '../../session/client.ts'
import { type DefinitionView, type Kind, named, pathFor, timelineQuery } from '../decision/kind.ts'
import { RollBackButton } from '../roll-back.tsx'
import { governedBefore } from '../version-names.ts'
import { useNow } from '../when.tsx'
import { WhatChanges } from './what-changes.tsx'

interface RollBackProps {
  readonly kind: Kind
  readonly definition_key: string
  readonly of: DefinitionView
}

export function RollBack({ kind, definition_key, of }: RollBackProps) {
  const [isOpen, dialog] = useDisclosure(false)
  const { data: timeline } = useQuery({ ...timelineQuery(kind, definition_key, 'own'), enabled: isOpen })
  const now_ms = useNow()
  return (
    <RollBackButton
      of={of}
      before={governedBefore(timeline?.in_force ?? [], of.active?.version ?? null, now_ms)}
      isOpen={isOpen}
      onOpen={dialog.open}
      onClose={dialog.close}
      send={(body) =>
        probity.POST(pathFor(kind, '/api/risk-matrices/{matrix_key}/rollback'), {
          params: { path: named(kind, definition_key) },
          body,
        })
      }
      touches="definitions"
      effect={(_, to) => (
        <WhatChanges kind={kind} definition_key={definition_key} to={{ version: to, origin: of.origin }} />
      )}
    />
  )
}
