/** Signed checkpoints of the chain. Copies kept elsewhere reveal a truncated or altered record. */
import { Button, Group, Stack, Table, Text } from '@mantine/core'
import { useSuspenseQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { keysQuery } from '#console/ui/checkpoint-keys.ts'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { DateTime } from '#console/ui/date-time.tsx'
import { ListTable, usePages } from '#console/ui/list.tsx'
import { saveJson } from '#console/ui/save-file.ts'
import { Facts, Section } from '#console/ui/section.tsx'
import { AuditFrame } from './audit-frame.tsx'

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
            The end of the chain is signed at most once a minute. Store checkpoints and the public key outside this
            system: an audit record that does not match them was altered.
          </Text>
          <Button
            variant="default"
            disabled={items.length === 0}
            onClick={() => saveJson('audit-checkpoints.json', { ...keys, checkpoints: items })}
          >
            Download
          </Button>
        </Group>
        <Section title="Verification key">
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
          empty={{
            title: 'No checkpoints yet',
            about: 'A checkpoint is a signed state of the record. The first one is made soon after the first change.',
          }}
          head={[
            { name: 'Up to event' },
            { name: 'Signed' },
            { name: 'Hash', from: 'sm' },
            { name: 'Key', from: 'md' },
          ]}
          row={(checkpoint) => (
            <Table.Tr key={checkpoint.seq}>
              <Table.Td>{checkpoint.seq.toLocaleString('en')}</Table.Td>
              <Table.Td>
                <DateTime at={checkpoint.created_at} isExact />
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
