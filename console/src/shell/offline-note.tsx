/** A note on every page while the browser is offline. */
import { Text } from '@mantine/core'
import { useNetwork } from '@mantine/hooks'

export function OfflineNote() {
  const { online } = useNetwork()
  if (online) return null
  return (
    <Text size="sm" className="offline" role="status">
      You are offline. The data shown may be out of date, and changes cannot be saved.
    </Text>
  )
}
