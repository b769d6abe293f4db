import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** Of charts alone, and most of all code: only pages with a chart load it. */
const CHARTS =
  /node_modules[\\/](recharts|@mantine[\\/]charts|d3-|victory-vendor|@reduxjs|react-redux|redux|immer|reselect|es-toolkit|decimal)/

/** What many pages share is in two files, not in one for every component: a page loads with some 15 requests instead of 100. */
const groups = [
  { name: 'vendor', test: (id: string) => id.includes('node_modules') && !CHARTS.test(id), minShareCount: 3 },
  { name: 'shared', test: /console[\\/]src|client[\\/]/, minShareCount: 5 },
]

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  build: {
    outDir: '../dist/console',
    emptyOutDir: true,
    rolldownOptions: { output: { codeSplitting: { groups } } },
  },
  server: { proxy: { '/api/': 'http://127.0.0.1:8000' } },
})
