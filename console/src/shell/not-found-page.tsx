/** The page for unknown addresses. The server serves the console for every address outside /api. */
import { Box, Text, Title } from '@mantine/core'
import { PageLink } from '#console/ui/link.tsx'
import { usePageFocus } from '#console/ui/page.tsx'

export function NotFoundPage() {
  const heading = usePageFocus('Not found')
  return (
    <Box className="page" maw={620}>
      <Title order={1} size="h2" ref={heading} tabIndex={-1} className="page-title">
        Page not found
      </Title>
      <Text mt="sm">
        The address may be misspelled. <PageLink to="/">Go to the home page</PageLink>
      </Text>
    </Box>
  )
}
