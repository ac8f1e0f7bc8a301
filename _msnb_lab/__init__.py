"""Labels of the JupyterLab extension in other languages, as JupyterLab looks for them (`jupyterlab.locale`)."""
