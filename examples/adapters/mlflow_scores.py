"""Two metrics as one scorer of MLflow. Needs the packages mlflow and nlgauge[neural]."""

import mlflow

from nlgauge.adapters import as_mlflow

data = [
    {
        "inputs": {"question": "Will it rain?"},
        "outputs": "It will rain.",
        "expectations": {"expected_response": ["It rains.", "Yes, it will rain."]},
    },
    {"inputs": {"question": "And snow?"}, "outputs": "No snow.", "expectations": {"expected_response": "None."}},
]
found = mlflow.genai.evaluate(data=data, scorers=[as_mlflow(["chrf", "bertscore"])])
print(found.metrics)
