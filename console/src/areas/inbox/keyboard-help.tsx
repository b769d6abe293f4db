/** What the keys of the inbox do. */
import { Kbd, Modal, Table } from '@mantine/core'
import { keyTexts } from './use-inbox-keys.ts'

export function KeyboardHelp({ onClose }: { readonly onClose: () => void }) {
  return (
    <Modal opened onClose={onClose} title="Keys of the inbox" centered closeButtonProps={{ 'aria-label': 'Close' }}>
      <Table withRowBorders={false}>
        <Table.Tbody>
          {keyTexts.map(([key, text]) => (
            <Table.Tr key={key}>
              <Table.Th scope="row" w={60}>
                <Kbd>{key}</Kbd>
              </Table.Th>
              <Table.Td>{text}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Modal>
  )
}
