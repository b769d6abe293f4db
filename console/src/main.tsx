/** Mounts the console. The colour scheme follows the system until the user chooses one. */
import '@mantine/core/styles.css'
import '@mantine/notifications/styles.css'
import './app.css'
import { MantineProvider } from '@mantine/core'
import { isProblem } from '@probity/client'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { router } from './router.tsx'
import { queries } from './session/queries.ts'
import { theme } from './theme.ts'

/** Problems from the server are shown as a page; only errors of the console itself are logged. */
function report(error: unknown): void {
  if (!isProblem(error)) console.error(error)
}

const container = document.getElementById('root')
if (container) {
  createRoot(container, { onCaughtError: report }).render(
    <StrictMode>
      <MantineProvider theme={theme} defaultColorScheme="auto">
        <QueryClientProvider client={queries}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  )
}
