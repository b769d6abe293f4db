/** What the pages of all kinds of definition share: the page around the tabs, and the actions on drafts and versions. */
import { Button, Group } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '../api-mutation.ts'
import {
  type DefinitionKind,
  type DefinitionView,
  getActiveOrLatest,
  toApiPath,
  toOperationId,
  toPathParams,
} from '../decision/definition-kind.ts'
import { ButtonLink, PageLink } from '../link.tsx'
import { Page } from '../page.tsx'
import { ProblemNote } from '../problem-note.tsx'
import { PinnedMark } from '../why-in-force.tsx'
import { AttentionMark, SharedMark } from './definition-marks.tsx'
import { DefinitionMenu } from './definition-menu.tsx'
import { PinActions } from './pin-actions.tsx'
import { RollBack } from './roll-back.tsx'

/** The version in the page address; by default the one in force. */
export function useVersion(of: DefinitionView): number | 'draft' | null {
  const { version } = useSearch({ strict: false }) as { version?: unknown }
  if (version === 'draft' && of.draft !== null) return 'draft'
  if (Number.isInteger(version)) return Number(version)
  return getActiveOrLatest(of) ?? (of.draft === null ? null : 'draft')
}

interface DefinitionFrameProps {
  readonly kind: DefinitionKind
  readonly definition_key: string
  readonly of: DefinitionView
  /** Marks of this kind beside the title. */
  readonly marks?: ReactNode
  /** Actions of this kind, before those on drafts and versions. */
  readonly actions?: ReactNode
  /** Whether opening the draft is the main action of the page. */
  readonly isDraftPrimary?: boolean
  readonly children: ReactNode
}

export function DefinitionFrame({
  kind,
  definition_key,
  of,
  marks,
  actions,
  isDraftPrimary = true,
  children,
}: DefinitionFrameProps) {
  return (
    <Page
      title={of.title}
      mark={
        <Group gap={6}>
          {of.origin === 'shared' && <SharedMark />}
          <PinnedMark of={of} />
          {marks}
          <AttentionMark of={of} />
        </Group>
      }
      about={of.description}
      trail={
        <PageLink to={kind.basePath} inherit>
          {kind.title}
        </PageLink>
      }
      actions={
        <DefinitionActions
          kind={kind}
          definition_key={definition_key}
          of={of}
          actions={actions}
          isDraftPrimary={isDraftPrimary}
        />
      }
    >
      {children}
    </Page>
  )
}

/** Opens a draft of the tenant's own definition, or copies a shared one into the tenant. */
function useOpenDraft(kind: DefinitionKind, definition_key: string, of: DefinitionView) {
  const navigate = useNavigate()
  const queries = useQueryClient()
  return useApiMutation(
    async (): Promise<void> => {
      const path = toPathParams(kind, definition_key)
      if (isOwn(of))
        await probity.POST(toApiPath(kind, '/api/risk-matrices/{matrix_key}/versions'), { params: { path }, body: {} })
      else
        await probity.POST(toApiPath(kind, '/api/risk-matrices'), {
          body: { ...path, title: of.title, from_key: definition_key },
        })
    },
    {
      invalidates: [],
      // The tenant now has its own definition: invalidate everything, but do not refetch for the page that is left.
      onDone: async () => {
        await queries.invalidateQueries({ queryKey: ['definitions'], refetchType: 'none' })
        await navigate({ to: `${kind.basePath}/${definition_key}/draft` })
      },
    },
  )
}

const isOwn = (of: DefinitionView): boolean => of.origin === 'own' && of.state === 'live'

function DefinitionActions({
  kind,
  definition_key,
  of,
  actions,
  isDraftPrimary,
}: Omit<DefinitionFrameProps, 'marks' | 'children'>) {
  const may = usePermission()
  const open = useOpenDraft(kind, definition_key, of)
  const parts = { kind, definition_key, of }
  const variant = isDraftPrimary ? 'filled' : 'default'
  return (
    <>
      <ProblemNote problem={open.problem} />
      {actions}
      {of.origin === 'shared' && <PinActions {...parts} />}
      {isOwn(of) && of.active !== null && may(toOperationId(kind, 'rollBack')) && <RollBack {...parts} />}
      {of.draft !== null && may(toOperationId(kind, 'update', 'Draft')) && (
        <ButtonLink to={`${kind.basePath}/${definition_key}/draft`} variant={variant}>
          Open draft
        </ButtonLink>
      )}
      {of.draft === null && may(toOperationId(kind, 'create', 'Draft')) && of.state === 'live' && (
        <Button variant={variant} loading={open.isRunning} onClick={() => open.run(undefined)}>
          {isOwn(of) ? 'New draft' : `Copy to own ${kind.word}`}
        </Button>
      )}
      {isOwn(of) && <DefinitionMenu {...parts} />}
    </>
  )
}
