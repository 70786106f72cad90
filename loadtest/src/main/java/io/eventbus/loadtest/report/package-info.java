/**
 * Reports of results for people and programs: a table for the terminal, JSON, and a page with plots
 * in one file.
 */
package io.eventbus.loadtest.report;
