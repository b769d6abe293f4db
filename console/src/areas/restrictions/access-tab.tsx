/** Who has access to a restriction and who is excluded from it, with the acts of an officer. */
import { Badge, Button, Group, Stack, Switch, Table, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useMe, usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { RelativeTime, useNow } from '#console/ui/date-time.tsx'
import { ConfirmDialog } from '#console/ui/dialog.tsx'
import { ListTable, usePages } from '#console/ui/list.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { EndingAccessNote, useOwnAccessEnd } from '#console/ui/restriction/own-access.tsx'
import type { Restriction } from '#console/ui/restriction/restriction-queries.ts'
import { useIsMlro } from '#console/ui/restriction/use-is-mlro.ts'
import { TimeLeft } from '#console/ui/time-left.tsx'
import { BreakGlassDialog, ExcludeDialog, GrantDialog } from './access-dialogs.tsx'

type Access = Schemas['RestrictionAccess']
type Act = 'grant' | 'exclude' | 'break-glass'

export function AccessTab({ restriction }: { readonly restriction: Restriction }) {
  const may = usePermission()
  const isMlro = useIsMlro()
  const { restriction_id } = restriction
  const [act, setAct] = useState<Act | null>(null)
  const [revoked, setRevoked] = useState<Access | null>(null)
  const [showsEnded, setShowsEnded] = useState(false)
  const list = usePages<Access>(
    ['restrictions', 'access', restriction_id, showsEnded],
    (cursor, signal) =>
      probity.GET('/api/restrictions/{restriction_id}/access', {
        params: {
          path: { restriction_id },
          query: { ...cursor, limit: 100, ...(showsEnded && { include: 'ended' as const }) },
        },
        signal,
      }),
    { refetch_ms: 60_000 }, // Access may expire while the page is open.
  )
  const listed = list.data?.pages.flatMap(({ items }) => items).filter(({ ended_at }) => ended_at === null) ?? []
  const close = () => setAct(null)
  const ends_at = useOwnAccessEnd(restriction_id)
  const canChange = may('updateRestrictionAccess') && may('listUsers') && ends_at === null
  return (
    <Stack gap="sm">
      {ends_at !== null && <EndingAccessNote until={ends_at} />}
      {canChange && (
        <Group gap="xs">
          <Button size="xs" onClick={() => setAct('grant')}>
            Give access
          </Button>
          <Button size="xs" variant="default" onClick={() => setAct('exclude')}>
            Exclude a person
          </Button>
          {isMlro && (
            <Button size="xs" variant="default" onClick={() => setAct('break-glass')}>
              Emergency access for an auditor
            </Button>
          )}
        </Group>
      )}
      <Switch
        size="sm"
        label="Show what has ended"
        checked={showsEnded}
        onChange={(event) => setShowsEnded(event.currentTarget.checked)}
      />
      <ListTable
        label="Access list"
        list={list}
        empty={{
          title: 'Nobody is on the access list',
          about: restriction.is_in_force
            ? 'Only the MLRO can see what belongs to this restriction.'
            : 'The restriction is not in force, so it hides nothing. Once it is imposed, only the MLRO sees what belongs to it.',
        }}
        head={[
          { name: 'Person' },
          { name: 'Access' },
          { name: 'Until', from: 'sm' },
          { name: 'Given', from: 'sm' },
          { name: 'Reason', from: 'md' },
          ...(canChange ? [{ name: 'Actions', isHidden: true }] : []),
        ]}
        row={(access) => (
          <AccessRow
            key={`${access.user_id} ${access.granted_at}`}
            access={access}
            canRevoke={canChange}
            onRevoke={() => setRevoked(access)}
          />
        )}
      />
      {act === 'grant' && <GrantDialog restriction_id={restriction_id} listed={listed} onClose={close} />}
      {act === 'exclude' && <ExcludeDialog restriction_id={restriction_id} onClose={close} />}
      {act === 'break-glass' && <BreakGlassDialog restriction_id={restriction_id} onClose={close} />}
      {revoked && <RevokeDialog restriction_id={restriction_id} access={revoked} onClose={() => setRevoked(null)} />}
    </Stack>
  )
}

interface AccessRowProps {
  readonly access: Access
  readonly canRevoke: boolean
  readonly onRevoke: () => void
}

function AccessRow({ access, canRevoke, onRevoke }: AccessRowProps) {
  const me = useMe()
  const principal = `user:${access.user_id}`
  return (
    <Table.Tr>
      <Table.Td>
        <Principal of={principal} isAlwaysNamed />
      </Table.Td>
      <Table.Td>
        <EffectBadge access={access} />
        {(access.until !== null || access.ended_at !== null) && (
          <Text size="xs" c="dimmed" hiddenFrom="sm">
            <AccessEnd access={access} />
          </Text>
        )}
      </Table.Td>
      <Table.Td className="nowrap" visibleFrom="sm">
        <AccessEnd access={access} />
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <RelativeTime at={access.granted_at} />, by <Principal of={access.granted_by} />
      </Table.Td>
      <Table.Td visibleFrom="md">
        <Text size="sm" lineClamp={2} maw={280}>
          {access.reason ?? ''}
        </Text>
      </Table.Td>
      {canRevoke && (
        <Table.Td ta="right">
          {principal !== me.principal && access.ended_at === null && (
            <Button size="compact-xs" variant="default" onClick={onRevoke}>
              {access.effect === 'grant' ? 'Revoke' : 'End'}
            </Button>
          )}
        </Table.Td>
      )}
    </Table.Tr>
  )
}

function AccessEnd({ access: { until, ended_at, ended_by } }: { readonly access: Access }) {
  if (ended_at !== null)
    return (
      <>
        ended <RelativeTime at={ended_at} />
        {ended_by !== null && (
          <>
            , by <Principal of={ended_by} />
          </>
        )}
      </>
    )
  return until === null ? <span className="quiet">no end</span> : <TimeLeft until={until} />
}

/** The end may have come while the page was open. */
function EffectBadge({ access: { effect, break_glass, until, ended_at } }: { readonly access: Access }) {
  const now_ms = useNow()
  const [text, colorInForce] =
    effect === 'exclude' ? ['excluded', 'red'] : break_glass ? ['emergency access', 'orange'] : ['access', 'teal']
  const isOver = ended_at !== null || (until !== null && Date.parse(until) <= now_ms)
  return (
    <Badge variant="light" tt="none" miw="max-content" color={isOver ? 'gray' : colorInForce}>
      {isOver ? `${text}, ended` : text}
    </Badge>
  )
}

interface RevokeDialogProps {
  readonly restriction_id: string
  readonly access: Access
  readonly onClose: () => void
}

function RevokeDialog({ restriction_id, access, onClose }: RevokeDialogProps) {
  const { user_id, effect } = access
  const revoke = useApiMutation(
    () =>
      probity.DELETE('/api/restrictions/{restriction_id}/access/{user_id}', {
        params: { path: { restriction_id, user_id } },
      }),
    {
      invalidates: ['restrictions'],
      successMessage: effect === 'grant' ? 'Access revoked' : 'Exclusion ended',
      onDone: onClose,
    },
  )
  return (
    <ConfirmDialog
      title={effect === 'grant' ? 'Revoke the access?' : 'End the exclusion?'}
      isOpen
      onClose={onClose}
      onConfirm={() => revoke.run(undefined)}
      confirm={effect === 'grant' ? 'Revoke' : 'End the exclusion'}
      change={revoke}
      isDangerous={effect === 'grant'}
    >
      {effect === 'grant'
        ? 'The person sees nothing of it from now on, also on pages that are open.'
        : 'The person is treated as everybody else: without access, unless they are the MLRO.'}
    </ConfirmDialog>
  )
}
