/** The look: calm, dense, legible. What a single rule cannot say is in app.css. */
import { Badge, Button, createTheme, Modal, Table } from '@mantine/core'

export const theme = createTheme({
  primaryColor: 'cyan',
  primaryShade: 9,
  defaultRadius: 'md',
  respectReducedMotion: true,
  headings: { fontWeight: '650' },
  components: {
    Badge: Badge.extend({ defaultProps: { radius: 'sm' } }),
    Button: Button.extend({ defaultProps: { size: 'sm' } }),
    Modal: Modal.extend({ styles: { title: { fontWeight: 650 } } }),
    Table: Table.extend({ defaultProps: { fz: 'sm' } }),
  },
})
