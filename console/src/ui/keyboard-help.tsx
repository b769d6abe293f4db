/** What the keys of a page do. */
import { Kbd, Table } from '@mantine/core'
import { ReadDialog } from './dialog.tsx'
import type { KeyText } from './use-page-keys.ts'

interface KeyboardHelpProps {
  readonly title: string
  readonly keys: readonly KeyText[]
  readonly onClose: () => void
}

export function KeyboardHelp({ title, keys, onClose }: KeyboardHelpProps) {
  return (
    <ReadDialog title={title} onClose={onClose}>
      <Table withRowBorders={false}>
        <Table.Tbody>
          {keys.map(([key, text]) => (
            <Table.Tr key={key}>
              <Table.Th scope="row" w={60}>
                <Kbd>{key}</Kbd>
              </Table.Th>
              <Table.Td>{text}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ReadDialog>
  )
}
