/** What the experiments found: a table, JSON, and a page with plots. */
package io.eventbus.loadtest.coordination.report;
