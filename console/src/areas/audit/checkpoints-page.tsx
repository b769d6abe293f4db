/** Signed statements of where the chain stood: kept outside, they show a shortened record whatever happens to this database. */
import { Button, Group, Stack, Table, Text } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { DateTime } from '#console/ui/date-time.tsx'
import { ListTable, usePages } from '#console/ui/list.tsx'
import { saveJson } from '#console/ui/save-file.ts'
import { Facts, Section } from '#console/ui/section.tsx'
import { AuditFrame } from './audit-frame.tsx'
import { keysQuery } from './checkpoint-keys.ts'

export default function CheckpointsPage() {
  const { data: keys } = useSuspenseQuery(keysQuery)
  const list = usePages(['audit', 'checkpoints'], (cursor, signal) =>
    probity.GET('/api/audit/checkpoints', { params: { query: { ...cursor, limit: 100 } }, signal }),
  )
  const items = list.data?.pages.flatMap((page) => page.items) ?? []
  return (
    <AuditFrame>
      <Stack gap="md">
        <Group justify="space-between" align="flex-start">
          <Text size="sm" maw={640}>
            At most once a minute the end of the chain is signed. Keep these, and the key, somewhere else: a record that
            no longer agrees with them was altered.
          </Text>
          <Button
            variant="default"
            disabled={items.length === 0}
            onClick={() => saveJson('audit-checkpoints.json', { ...keys, checkpoints: items })}
          >
            Save as a file
          </Button>
        </Group>
        <Section title="The key to verify them with">
          <Facts
            of={[
              ['Public key', <CopyValue key="key" value={keys.public_key} name="the public key" />],
              [
                'Key id',
                <span key="id" className="mono">
                  {keys.key_id}
                </span>,
              ],
              keys.earlier_keys.length > 0 && [
                'Earlier keys',
                <Stack key="earlier" gap={2}>
                  {keys.earlier_keys.map(({ key_id, public_key }) => (
                    <CopyValue key={key_id} value={public_key} name={`the earlier key ${key_id}`} />
                  ))}
                </Stack>,
              ],
            ]}
          />
        </Section>
        <ListTable
          label="Checkpoints"
          list={list}
          empty="There is no checkpoint yet."
          head={[
            { name: 'Events until' },
            { name: 'Signed' },
            { name: 'Hash', from: 'sm' },
            { name: 'Key', from: 'md' },
          ]}
          row={(checkpoint) => (
            <Table.Tr key={checkpoint.seq}>
              <Table.Td>{checkpoint.seq.toLocaleString('en')}</Table.Td>
              <Table.Td>
                <DateTime at={checkpoint.created_at} />
              </Table.Td>
              <Table.Td visibleFrom="sm" className="mono">
                {checkpoint.hash.slice(0, 16)}…
              </Table.Td>
              <Table.Td visibleFrom="md" className="mono">
                {checkpoint.key_id}
              </Table.Td>
            </Table.Tr>
          )}
        />
      </Stack>
    </AuditFrame>
  )
}
